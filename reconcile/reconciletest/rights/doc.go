// Package rights proves that an operator has the rights it needs and no more: [Rights] is an account with the rules of its page and nothing
// else, and [RefusedOnce] and [Outdated] make it use those that it needs only when something goes wrong.
package rights
