// Package plural derives the resource of a kind where no API server and no definition names it.
package plural
