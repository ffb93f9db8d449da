// Package plural derives the resource name of a kind if no API server and no definition provides it.
package plural
