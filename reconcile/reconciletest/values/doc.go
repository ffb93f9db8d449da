// Package values generates random owners with a valid spec by the schema of their CRD, including unusual values. Use them in property
// tests.
package values
