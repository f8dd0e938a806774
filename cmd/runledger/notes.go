package main

import (
	"slices"
	"sync"
)

// Sentences in order, without duplicates.
type notes struct {
	mutex sync.Mutex
	said  []string
}

func (n *notes) add(text string) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if !slices.Contains(n.said, text) {
		n.said = append(n.said, text)
	}
}

func (n *notes) all() []string {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	return append([]string(nil), n.said...)
}
