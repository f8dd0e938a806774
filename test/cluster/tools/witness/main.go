// Command witness runs the witness of transparency-dev in memory, for the logs whose public keys
// are its arguments. It prints its address and its public key, and ends with its standard input.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/go-logr/logr"
	cosignatures "github.com/transparency-dev/formats/note"
	"github.com/transparency-dev/witness/persistence/inmemory"
	"github.com/transparency-dev/witness/witness"
	"golang.org/x/mod/sumdb/note"
	"k8s.io/klog/v2"
)

func main() {
	// Its refusals are what the tests look for in the answers.
	klog.SetLogger(logr.Discard())
	if err := run(os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(keys []string) error {
	logs := map[string]note.Verifier{}
	for _, key := range keys {
		verifier, err := note.NewVerifier(key)
		if err != nil {
			return err
		}
		logs[verifier.Name()] = verifier
	}
	private, public, err := note.GenerateKey(rand.Reader, "witness.example")
	if err != nil {
		return err
	}
	signer, err := cosignatures.NewSignerForCosignatureV1(private)
	if err != nil {
		return err
	}
	cosigner, err := cosignatures.VKeyToCosignatureV1(public)
	if err != nil {
		return err
	}
	served, err := witness.New(context.Background(), witness.Opts{
		Persistence: inmemory.New(),
		Signers:     []note.Signer{signer},
		VerifierForLog: func(_ context.Context, origin string) (note.Verifier, bool, error) {
			verifier, known := logs[origin]
			return verifier, known, nil
		},
	})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	http.HandleFunc("POST /add-checkpoint", witness.NewHTTPHandler(served).AddCheckpoint)
	go func() { log.Fatal(http.Serve(listener, nil)) }()
	fmt.Printf("http://%s/#%s\n", listener.Addr(), cosigner)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
