// Package releases applies the published manifests of a project as the plan of one owner on a real API server.
//
// A project has one or more releases, each a stream of YAML documents. A trial creates the last release from nothing and removes it. Then it
// creates the first release, lets another client edit the fields that the manifests state, upgrades to each next release and removes the
// owner. In steady state and after a restart the engine must send nothing. Each edit must be repaired or reported. An upgrade must end with
// the values of the release that was created from nothing. At the end the API server must have the same objects as before.
//
// The API server runs without controllers. The trial deletes what garbage collection would delete, and the content of terminating namespaces.
package releases
