// Package widget defines the API type of the SDK's own tests: an owner with a status, and its CRD.
package widget
