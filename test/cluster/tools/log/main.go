// Checks a log with programs of others. Prints a sentence, or says what is wrong and ends with exit
// code 1.
//
//	log FOLDER PUBLIC-KEY
//
// checks with the libraries of Go's checksum database. FOLDER holds what a log serves:
// `checkpoint`, `tile/…`. It may hold `proof/*` (C2SP tlog-proof), and `older/*`: earlier
// checkpoints.
//
//	log URL PUBLIC-KEY [HEADER …]
//
// checks with tessera's fsck. URL is the prefix of a served log, HEADER a `name: value` to send.
package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func main() {
	where, publicKey := os.Args[1], os.Args[2]
	var message string
	var err error
	if strings.HasPrefix(where, "http://") {
		message, err = checkServed(where, publicKey, os.Args[3:])
	} else {
		message, err = check(where, publicKey)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(message)
}

func check(folder, publicKey string) (string, error) {
	verifier, err := note.NewVerifier(publicKey)
	if err != nil {
		return "", err
	}
	tree, err := openCheckpoint(filepath.Join(folder, "checkpoint"), verifier)
	if err != nil {
		return "", err
	}
	tiles := tlog.TileHashReader(tree, folderOfTiles(folder))
	if err := checkEntries(folder, tree, tiles); err != nil {
		return "", err
	}
	older, err := each(folder, "older", func(path string) error {
		earlier, err := openCheckpoint(path, verifier)
		if err != nil {
			return err
		}
		proof, err := tlog.ProveTree(tree.N, earlier.N, tiles)
		if err != nil {
			return err
		}
		return tlog.CheckTree(proof, tree.N, tree.Hash, earlier.N, earlier.Hash)
	})
	if err != nil {
		return "", err
	}
	proofs, err := each(folder, "proof", func(path string) error { return checkProof(path, verifier) })
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d leaves, %d older checkpoints, %d proofs", tree.N, older, proofs), nil
}

// openCheckpoint checks the signature and reads origin, size and root.
func openCheckpoint(path string, verifier note.Verifier) (tlog.Tree, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return tlog.Tree{}, err
	}
	return readCheckpoint(text, verifier)
}

func readCheckpoint(text []byte, verifier note.Verifier) (tlog.Tree, error) {
	opened, err := note.Open(text, note.VerifierList(verifier))
	if err != nil {
		return tlog.Tree{}, err
	}
	lines := strings.Split(opened.Text, "\n")
	if len(lines) != 4 || lines[0] != verifier.Name() {
		return tlog.Tree{}, fmt.Errorf("the checkpoint has other lines: %q", opened.Text)
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil {
		return tlog.Tree{}, err
	}
	root, err := tlog.ParseHash(lines[2])
	return tlog.Tree{N: size, Hash: root}, err
}

// checkEntries reads all leaves, and compares them with the hashes of the tree.
func checkEntries(folder string, tree tlog.Tree, tiles tlog.HashReader) error {
	indexes := make([]int64, tree.N)
	for index := range indexes {
		indexes[index] = tlog.StoredHashIndex(0, int64(index))
	}
	hashes, err := tiles.ReadHashes(indexes)
	if err != nil {
		return err
	}
	for first := int64(0); first < tree.N; first += 256 {
		tile := tlog.Tile{H: 8, L: -1, N: first / 256, W: int(min(256, tree.N-first))}
		bundle, err := os.ReadFile(filepath.Join(folder, path(tile)))
		if err != nil {
			return err
		}
		for at := first; at < first+int64(tile.W); at++ {
			length := int(binary.BigEndian.Uint16(bundle))
			if tlog.RecordHash(bundle[2:2+length]) != hashes[at] {
				return fmt.Errorf("leaf %d is not the one of the tree", at)
			}
			bundle = bundle[2+length:]
		}
		if len(bundle) > 0 {
			return fmt.Errorf("the entry bundle at %d is too long", first)
		}
	}
	return nil
}

// checkProof checks a proof of inclusion, and the checkpoint that it holds.
func checkProof(path string, verifier note.Verifier) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, checkpoint, found := bytes.Cut(text, []byte("\n\n"))
	lines := strings.Split(string(head), "\n")
	if !found || len(lines) < 3 || lines[0] != "c2sp.org/tlog-proof@v1" {
		return fmt.Errorf("%s is no proof", path)
	}
	tree, err := readCheckpoint(checkpoint, verifier)
	if err != nil {
		return err
	}
	leaf, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(lines[1], "extra "))
	if err != nil {
		return err
	}
	index, err := strconv.ParseInt(strings.TrimPrefix(lines[2], "index "), 10, 64)
	if err != nil {
		return err
	}
	var proof tlog.RecordProof
	for _, line := range lines[3:] {
		hash, err := tlog.ParseHash(line)
		if err != nil {
			return err
		}
		proof = append(proof, hash)
	}
	return tlog.CheckRecord(proof, tree.N, tree.Hash, index, tlog.RecordHash(leaf))
}

// each calls check for every file of a folder, and counts them.
func each(folder, name string, check func(path string) error) (int, error) {
	files, err := filepath.Glob(filepath.Join(folder, name, "*"))
	if err != nil {
		return 0, err
	}
	for _, file := range files {
		if err := check(file); err != nil {
			return 0, fmt.Errorf("%s: %w", file, err)
		}
	}
	return len(files), nil
}

// folderOfTiles reads tiles by the paths of C2SP tlog-tiles.
type folderOfTiles string

func (folder folderOfTiles) Height() int { return 8 }

func (folder folderOfTiles) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	var all [][]byte
	for _, tile := range tiles {
		data, err := os.ReadFile(filepath.Join(string(folder), path(tile)))
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}

func (folder folderOfTiles) SaveTiles([]tlog.Tile, [][]byte) {}

// path turns tile/8/0/001 and tile/8/data/001 into those of C2SP.
func path(tile tlog.Tile) string {
	return strings.NewReplacer("tile/8/", "tile/", "data/", "entries/").Replace(tile.Path())
}
