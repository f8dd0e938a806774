package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/transparency-dev/merkle/rfc6962"
	"github.com/transparency-dev/tessera/api"
	"github.com/transparency-dev/tessera/client"
	"github.com/transparency-dev/tessera/fsck"
	"golang.org/x/mod/sumdb/note"
	"k8s.io/klog/v2"
)

// With fewer workers, fsck would wait for ever after each of them has found a wrong tile.
const workers = 16

// checkServed reads a whole log over HTTP, and computes its tiles and its root from its entries.
func checkServed(prefix, publicKey string, headers []string) (string, error) {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	verifier, err := note.NewVerifier(publicKey)
	if err != nil {
		return "", err
	}
	address, err := url.Parse(prefix)
	if err != nil {
		return "", err
	}
	fetcher, err := client.NewHTTPFetcher(address, &http.Client{Transport: withHeaders(headers)})
	if err != nil {
		return "", err
	}
	log := fsck.New(verifier.Name(), verifier, fetcher, hashBundle, fsck.Opts{N: workers})
	if err := log.Check(context.Background()); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d files are right", log.Status().ResourcesFetched), nil
}

// hashBundle returns the hashes of the leaves of an entry bundle (C2SP tlog-tiles).
func hashBundle(text []byte) ([][]byte, error) {
	var bundle api.EntryBundle
	if err := bundle.UnmarshalText(text); err != nil {
		return nil, err
	}
	var hashes [][]byte
	for _, leaf := range bundle.Entries {
		hashes = append(hashes, rfc6962.DefaultHasher.HashLeaf(leaf))
	}
	return hashes, nil
}

// withHeaders sends headers, `name: value`, with each request.
type withHeaders []string

func (headers withHeaders) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Set(name, value)
	}
	return http.DefaultTransport.RoundTrip(request)
}
