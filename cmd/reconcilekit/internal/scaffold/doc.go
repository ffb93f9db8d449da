// Package scaffold renders the files of a project from templates: [Project] is an operator, [API] one of its kinds, [Version] another API
// version of a kind and [Webhook] the webhooks of a kind. It returns files by path and writes nothing, so that a command and a kubebuilder
// plugin can share it.
package scaffold
