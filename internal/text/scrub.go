package text

import (
	"regexp"
	"strings"
)

// hidden replaces a credential.
const hidden = "***"

// secretWord matches the last part of a name of a credential, such as db_password or X-Api-Key.
const secretWord = `(?:passw(?:or)?d|passphrase|pwd|secret|token|jwt|` + keyWord + `|signature|sig|credentials?|session[-_]?id)`

// keyWord matches a key that is a credential. The word "key" alone is not one.
const keyWord = `(?:api|access|account|auth|client|encryption|license|master|private|secret|signing|ssh|storage)[-_]?key`

// shortWord matches a word that names a credential if it stands alone or after a separator, as in DB_PASS.
const shortWord = `\b(?:[A-Za-z0-9_.-]*[_.-])?(?:pass|pw|session|sid|auth)`

// prefixes match the tokens of well-known services.
const prefixes = `\b(?:(?:AKIA|ASIA)[A-Z0-9]{16}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|gl(?:pat|ptt|dt|rt|cbt)-[\w-]{16,}|` +
	`xox[abeprs]-[\w-]{10,}|xapp-[\w-]{10,}|hf_[A-Za-z0-9]{6,}|sk-[\w-]{6,}|[spr]k_(?:live|test)_\w{6,}|nvapi-[\w-]{10,}|gsk_\w{10,}|` +
	`r8_\w{16,}|npm_\w{16,}|pypi-[\w-]{16,}|do[opr]_v1_\w{16,}|dckr_pat_[\w-]{10,}|dapi[0-9a-f]{32}|SG\.[\w-]{16,}\.[\w-]{16,}|AIza[\w-]{30,}|` +
	`ya29\.[\w-]{10,}|GOCSPX-[\w-]{10,}|shp(?:at|ca|pa|ss)_\w{16,}|hv[sbr]\.[\w-]{10,}|sha256~[\w-]{16,}|tskey-[\w-]{10,}|AGE-SECRET-KEY-\w{16,})`

// valueForm matches a value in quotes or up to the next separator.
const valueForm = `(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"',;&)\]}]+)`

// credential is one pattern of a credential in a text.
type credential struct {
	form *regexp.Regexp
	keep string // replacement, with the kept groups
}

// credentials are matched in order. A name followed by a colon is usually a field or a message ("token: not found"), so for colons only
// the formats of JSON, of HTTP and of the API server's validation match.
var credentials = []credential{ //nolint:gochecknoglobals // compiled once, never changed
	{regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`), hidden},
	{regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^\s/?#"'@]*:[^\s/?#"']*@`), "${1}" + hidden + "@"},
	{regexp.MustCompile(`\b[^\s:/@"'=]+:[^\s/"']+@(tcp|udp|unix)\(`), hidden + "@${1}("},
	{regexp.MustCompile(`(?i)\b((?:proxy-)?authorization["']?\s*[:=]\s*["']?(?:(?:basic|bearer|digest|negotiate|token|apikey|ntlm|oauth|aws4-hmac-sha256)\s+)?)[^\s"',]+`), "${1}" + hidden},
	{regexp.MustCompile(`(?i)\b((?:set-)?cookie["']?\s*[:=]\s*["']?)[^\r\n"']+`), "${1}" + hidden},
	{regexp.MustCompile(`(?i)\b(x-[a-z0-9-]*(?:key|token|secret|auth|password)["']?\s*[:=]\s*["']?)[^\s"',;]+`), "${1}" + hidden},
	{regexp.MustCompile(`(?i)\b(bearer\s+["']?)[A-Za-z0-9._~+/=-]*[0-9._~+/=-][A-Za-z0-9._~+/=-]*`), "${1}" + hidden},
	{regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?`), hidden},
	{regexp.MustCompile(prefixes), hidden},
	{regexp.MustCompile(`(?i)(\\+"[A-Za-z0-9_.-]*(?:` + secretWord + `|pass|session)\\+"\s*:\s*)(?:\\+"[^"\\]*\\+"|[^\s,}\\]+)`), "${1}" + hidden},
	{regexp.MustCompile(`(?i)(` + shortWord + `\s*=\s*)` + valueForm), "${1}" + hidden},
	{regexp.MustCompile(`([a-z0-9]Pass\s*=\s*)` + valueForm), "${1}" + hidden},
	{regexp.MustCompile(`(?i)\b((?:[A-Za-z0-9_.-]*[_.-])?(?:passw(?:or)?d|passphrase|pwd|` + keyWord + `)\s+)(?:"[^"]+"|'[^']+')`), "${1}" + hidden},
	{regexp.MustCompile(`(?i)([A-Za-z0-9_.-]*` + secretWord + `\s*=\s*)` + valueForm), "${1}" + hidden},
	{regexp.MustCompile(`(?i)(["'][A-Za-z0-9_.-]*(?:` + secretWord + `|pass|session)["']\s*:\s*)` + valueForm), "${1}" + hidden},
	{regexp.MustCompile(`(?i)(` + secretWord + `[A-Za-z0-9_.\[\]-]*: (?:Invalid|Unsupported|Duplicate) value: )` + `(?:"(?:[^"\\]|\\.)*"|[^\s"',;:]+)`), "${1}" + hidden},
	{regexp.MustCompile(`(?i)\b(` + secretWord + `: )[^\s"',;]*[0-9][^\s"',;]*`), "${1}" + hidden},
}

// spoken matches words after the name of a credential that belong to a sentence: "--token is required", "password: missing".
var spoken = regexp.MustCompile( //nolint:gochecknoglobals // compiled once, never changed
	`(?i)^(?:an?|and|are|as|at|be|been|but|by|can(?:not)?|could|denied|does|empty|error|expired|expected|failed|field|file|flag|for|from|has|in|incorrect|` +
		`invalid|is|it|malformed|mismatch|missing|must|needs?|nil|no|none|not|null|of|on|or|rejected|required|requires|revoked|should|the|to|` +
		`too|unauthorized|unset|unknown|value|wants?|was|were|will|with|wrong|true|false|<nil>|\*\*\*)$`)

// judged are patterns whose value is examined: the groups are the kept part, the value, and the rest.
var judged = []struct { //nolint:gochecknoglobals // compiled once, never changed
	form   *regexp.Regexp
	secret func(value string) bool
}{
	{ // a flag and its value
		regexp.MustCompile(`(?i)((?:^|[\s"'\[])--?(?:[a-z0-9_.-]*[_.-])?(?:` + secretWord + `|pass|pw)["']?,?\s+["']?)([^\s"',;\]-][^\s"',;\]]*)()`),
		func(value string) bool { return !spoken.MatchString(value) },
	},
	{ // a name, a colon and one word
		regexp.MustCompile(`(?im)\b((?:[A-Za-z0-9_.-]*[_.-])?(?:passw(?:or)?d|passphrase|pwd|pass|` + keyWord + `|[a-z]+_token|[a-z]+_secret): )([^\s"',;]+)([,;]|$)`),
		func(value string) bool { return !spoken.MatchString(strings.TrimSuffix(value, ".")) },
	},
	{ // a user, a password and a host; the digest of an image has the same form
		regexp.MustCompile(`()\b([^\s:/@"'=,(]+:[^\s/@"']+)(@[A-Za-z0-9.\[-]+)`), func(string) bool { return true },
	},
	{regexp.MustCompile(`()([A-Za-z0-9_+=-]{28,})()`), random}, // a long token
}

// digest matches the digest after the tag of an image.
var digest = regexp.MustCompile(`^@sha\d+$`)

// random reports whether a long text is random. Hexadecimal hashes, UUIDs and names of objects have no upper case; names of types have
// few digits.
func random(value string) bool {
	const few = 4
	lower, upper, digits := 0, 0, 0
	for _, c := range value {
		switch {
		case 'a' <= c && c <= 'z':
			lower++
		case 'A' <= c && c <= 'Z':
			upper++
		case '0' <= c && c <= '9':
			digits++
		}
	}
	return lower >= few && upper >= few && digits >= few
}

// Scrub replaces texts that look like a credential by "***": user and password in a URL, a data source name or before a host, an
// Authorization, Cookie or key header, a bearer token or JSON Web Token, a token of a well-known service, a private key, a value after
// the name of a password, token or key (key=value, JSON, escaped JSON, a flag), a long random token. It keeps the other text, and returns
// a text without credentials unchanged. It is a last line of defence for errors that are stored and displayed: an error should not
// contain credentials.
func Scrub(text string) string {
	if !suspicious(text) {
		return text
	}
	for _, c := range credentials {
		text = c.form.ReplaceAllString(text, c.keep)
	}
	for _, j := range judged {
		text = j.form.ReplaceAllStringFunc(text, func(found string) string {
			groups := j.form.FindStringSubmatch(found)
			if groups == nil || !j.secret(groups[2]) || digest.MatchString(groups[3]) {
				return found
			}
			return groups[1] + hidden + groups[3]
		})
	}
	return text
}

// suspicious is a fast check whether a text may contain a credential.
func suspicious(text string) bool {
	return strings.ContainsAny(text, "@=~") || strings.Contains(text, "eyJ") || mayName.MatchString(text)
}

var mayName = regexp.MustCompile(`(?i)auth|bearer|pass|pwd|secret|token|key|sig|credential|cookie|session|jwt|--pw|` +
	`[A-Za-z0-9_+-]{28}|` + prefixes)
