package inspect

import (
	"slices"
	"strings"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/text"
)

// logClass classifies a log excerpt.
type logClass string

// The classes, in the order of precedence.
const (
	// logInfrastructure is a rejection by the cluster's authorisation, or a missing role.
	logInfrastructure logClass = "Infrastructure"
	// logNotFound is a source that does not exist.
	logNotFound logClass = "ResourceNotFound"
	// logAuth is a missing or rejected credential.
	logAuth logClass = "Auth"
	// logStorageFull is a full disk or an exceeded storage quota.
	logStorageFull logClass = "StorageFull"
	// logUnknown is any other log.
	logUnknown logClass = "Unknown"
)

// maxLine is the maximum length of a log line in a message.
const maxLine = 256

// classifyLog finds the line of a log with the reason of a failure, ignoring case, and returns its class and the line, trimmed to 256
// bytes; the last matching line wins. For logUnknown the line is empty. The order of the classes matters, because a missing source is
// often reported together with a 401 or 403.
func classifyLog(log string) (logClass, string) {
	lines := strings.Split(strings.ToValidUTF8(log, ""), "\n")
	for _, class := range []logClass{logInfrastructure, logNotFound, logAuth, logStorageFull} {
		for _, v := range slices.Backward(lines) {
			if mentions(class, strings.ToLower(v)) {
				return class, excerptLine(v)
			}
		}
	}
	return logUnknown, ""
}

// mentions reports whether a lower-case line belongs to the class.
func mentions(class logClass, line string) bool {
	switch class {
	case logInfrastructure:
		return containsAny(line, "rbac", "forbidden: user ", "serviceaccount:") || refusedByRole(line)
	case logNotFound:
		// Something missing in the image is not a missing source.
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

// refusedByRole reports whether the line has the text of the API server's authoriser.
func refusedByRole(line string) bool {
	return strings.Contains(line, " cannot ") && strings.Contains(line, " resource")
}

// classifyPull classifies a container runtime's message about an image. Authentication comes first, because registries report it for
// missing images, too.
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

// failureFromLog categorises a failure by its log. It reports whether the log has a reason.
func failureFromLog(log, message string) (health.Component, bool) {
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

// excerpt returns the part of a log for a message: the line with the reason, else the last three lines.
func excerpt(log string) string {
	log = strings.TrimSpace(log)
	if log == "" {
		return ""
	}
	_, line := classifyLog(log)
	if line == "" {
		lines := strings.Split(log, "\n")
		for i := range lines {
			lines[i] = excerptLine(lines[i])
		}
		line = strings.Join(lines[max(len(lines)-3, 0):], "\n")
	}
	return conditions.Bound("\n\nLog excerpt:\n" + line)
}

// excerptLine trims and shortens a line and removes a leading timestamp, which would make every message different.
func excerptLine(line string) string {
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

// isTime reports whether a word looks like a date, a time or both: at least two of - : / between digits, and otherwise only T, Z, dots,
// commas, plus and brackets.
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

// hasNumber reports whether the text contains the number as a separate word.
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
