// Package ext stands in for the empty types that Traefik keeps in a nested module, which its
// published module lacks.
package ext

// HTTP adds nothing to Traefik's HTTP configuration.
type HTTP struct{}

// Router adds nothing to Traefik's routers.
type Router struct{}
