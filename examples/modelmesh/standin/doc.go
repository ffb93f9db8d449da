// Package standin has doubles of what the operator talks to outside of the cluster.
package standin
