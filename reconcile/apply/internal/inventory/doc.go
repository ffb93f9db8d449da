// Package inventory reads and records where the children of an owner are, in the
// metadata of the owner, and applies what is planned of that metadata.
package inventory
