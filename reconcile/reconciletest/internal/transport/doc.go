// Package transport is the connection between an instance of an operator and the API server: it counts requests, injects faults, rejects
// requests without permission, and is cut when the instance crashes.
package transport
