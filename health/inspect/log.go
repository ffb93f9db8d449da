package inspect

import (
	"slices"
	"strings"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/text"
)

// logClass is what a piece of log says about a failure.
type logClass string

// The classes, in the order in which classifyLog looks for them.
const (
	// logInfrastructure is a refusal by the cluster's own authorisation, or a role that is missing.
	logInfrastructure logClass = "Infrastructure"
	// logNotFound is a source that does not exist.
	logNotFound logClass = "ResourceNotFound"
	// logAuth is a missing or refused credential.
	logAuth logClass = "Auth"
	// logStorageFull is a full disk or an exceeded storage quota.
	logStorageFull logClass = "StorageFull"
	// logUnknown is none of these.
	logUnknown logClass = "Unknown"
)

// maxLine bounds the line of a log that gets into a message.
const maxLine = 256

// classifyLog looks in a piece of log for the line with the reason of a failure, ignoring case, and returns its class and the
// line, trimmed and at most 256 bytes; the last such line where there are several. For logUnknown the line is empty. Classes are
// looked for in their order, as a source that does not exist is often reported together with a 401 or 403.
func classifyLog(log string) (logClass, string) {
	lines := strings.Split(strings.ToValidUTF8(log, ""), "\n")
	for _, class := range []logClass{logInfrastructure, logNotFound, logAuth, logStorageFull} {
		for _, v := range slices.Backward(lines) {
			if mentions(class, strings.ToLower(v)) {
				return class, tellingLine(v)
			}
		}
	}
	return logUnknown, ""
}

// mentions reports whether a lower-case line is of the class.
func mentions(class logClass, line string) bool {
	switch class {
	case logInfrastructure:
		return containsAny(line, "rbac", "forbidden: user ", "serviceaccount:") || refusedByRole(line)
	case logNotFound:
		// What the image lacks is no source.
		return !containsAny(line, "command not found", "modulenotfounderror") &&
			(hasNumber(line, "404") || containsAny(line, "not found", "notfound", "does not exist", "no such", "name unknown",
				"manifest unknown", "nosuchkey", "nosuchbucket"))
	case logAuth:
		return hasNumber(line, "401") || hasNumber(line, "403") || containsAny(line, "unauthorized", "forbidden", "denied",
			"authentication", "credential", "invalid token", "expired token", "expiredtoken")
	case logStorageFull:
		return containsAny(line, "no space left", "enospc", "quota exceeded", "disk is full", "disk full", "storage full")
	case logUnknown:
	}
	return false
}

// refusedByRole recognises the text of the API server's authoriser.
func refusedByRole(line string) bool {
	return strings.Contains(line, " cannot ") && strings.Contains(line, " resource")
}

// classifyPull reads what a container runtime says about an image: authentication first, as registries answer it for images
// that do not exist, too.
func classifyPull(text string) logClass {
	line := strings.ToLower(text)
	switch {
	case containsAny(line, "unauthorized", "authentication", "forbidden", "denied", "credentials"),
		hasNumber(line, "401"), hasNumber(line, "403"):
		return logAuth
	case containsAny(line, "not found", "manifest unknown", "name unknown", "no such"), hasNumber(line, "404"):
		return logNotFound
	}
	return logUnknown
}

// toldByLog categorises a failure by its log, if that says anything.
func toldByLog(log, message string) (health.Component, bool) {
	if log == "" {
		return health.Component{}, false
	}
	switch class, _ := classifyLog(log); class {
	case logInfrastructure:
		return broken(health.Infrastructure, "PodForbidden", message), true
	case logNotFound:
		return broken(health.InvalidSpec, "SourceNotFound", message), true
	case logAuth:
		return broken(health.Auth, "AuthError", message), true
	case logStorageFull:
		return broken(health.ResourceExhaustion, "StorageFull", message), true
	case logUnknown:
	}
	return health.Component{}, false
}

// excerpt returns the part of a log for a message: the telling line, else the last three.
func excerpt(log string) string {
	log = strings.TrimSpace(log)
	if log == "" {
		return ""
	}
	_, line := classifyLog(log)
	if line == "" {
		lines := strings.Split(log, "\n")
		for i := range lines {
			lines[i] = tellingLine(lines[i])
		}
		line = strings.Join(lines[max(len(lines)-3, 0):], "\n")
	}
	return conditions.Bound("\n\nLog excerpt:\n" + line)
}

// tellingLine trims a line, leaves out a leading time, which would make every message another one, and bounds it.
func tellingLine(line string) string {
	line = strings.TrimSpace(strings.ToValidUTF8(line, ""))
	for {
		first, rest, found := strings.Cut(line, " ")
		if !found || !isTime(first) {
			break
		}
		line = strings.TrimSpace(rest)
	}
	return text.Cut(line, maxLine)
}

// isTime reports whether a word looks like a date, a time or both: at least two of - : / between digits, and nothing but these, T, Z,
// dots, commas, plus and brackets.
func isTime(word string) bool {
	marks := 0
	for i := range len(word) {
		switch c := word[i]; {
		case '0' <= c && c <= '9', strings.IndexByte("TZ.,+[]", c) >= 0:
		case c == '-' || c == ':' || c == '/':
			marks++
		default:
			return false
		}
	}
	return marks >= 2
}

func containsAny(text string, parts ...string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// hasNumber reports whether the text has the number as a word of its own, not as part of a longer one.
func hasNumber(text, number string) bool {
	for from := 0; ; {
		at := strings.Index(text[from:], number)
		if at < 0 {
			return false
		}
		start := from + at
		end := start + len(number)
		if (start == 0 || !wordByte(text[start-1])) && (end == len(text) || !wordByte(text[end])) {
			return true
		}
		from = end
	}
}

func wordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '.'
}
