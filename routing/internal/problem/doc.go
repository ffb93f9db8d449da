// Package problem builds errors about an owner's spec, of category InvalidSpec and with a bounded message.
package problem
