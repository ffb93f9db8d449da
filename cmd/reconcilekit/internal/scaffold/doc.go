// Package scaffold writes the files of a project from templates: [Project] is the whole operator, [API] a kind of it. Files are returned
// by path and not written, so that a command and a plugin of kubebuilder share them.
package scaffold
