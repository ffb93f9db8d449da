package text_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/internal/text"
)

func TestScrub(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ text, want string }{
		"nothing": {"dial tcp 10.0.0.1:5432: connect: connection refused", "dial tcp 10.0.0.1:5432: connect: connection refused"},
		"password in a URL": {
			"dial postgres://admin:hunter2@db.tenant-a:5432/x?sslmode=disable: refused",
			"dial postgres://***@db.tenant-a:5432/x?sslmode=disable: refused",
		},
		"password with an at sign in a URL": {"https://u:a@b@host/path", "https://***@host/path"},
		"user alone in a URL":               {"ssh://git@example.com/repo", "ssh://git@example.com/repo"},
		"data source name":                  {"open root:hunter2@tcp(db:3306)/x: refused", "open ***@tcp(db:3306)/x: refused"},
		"connection string":                 {"host=db user=app password=hunter2 dbname=x", "host=db user=app password=*** dbname=x"},
		"quoted value":                      {`password='correct horse' host=db`, "password=*** host=db"},
		"query":                             {"Get https://x/y?access_token=abc&page=2: EOF", "Get https://x/y?access_token=***&page=2: EOF"},
		"header":                            {"Authorization: Bearer abc.def.ghi rejected", "Authorization: Bearer *** rejected"},
		"basic header":                      {`"Authorization":"Basic dXNlcjpwYXNz"`, `"Authorization":"Basic ***"`},
		"bearer":                            {"invalid bearer s3cr3t", "invalid bearer ***"},
		"bearer in prose":                   {"bearer token is missing", "bearer token is missing"},
		"web token":                         {"token eyJhbGciOi.eyJzdWIiOi.c2ln is expired", "token *** is expired"},
		"JSON":                              {`{"db_password": "hun\"ter2", "size": 3}`, `{"db_password": ***, "size": 3}`},
		"value refused by validation": {
			`spec.dbPassword: Invalid value: "hunter2": must be longer`, `spec.dbPassword: Invalid value: ***: must be longer`,
		},
		"private key": {"x -----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY----- y", "x *** y"},
		"colon":       {"password: hunter2", "password: ***"},
		"required":    {"spec.token: Required value", "spec.token: Required value"},
		"secret":      {`secrets "db-token" not found`, `secrets "db-token" not found`},
		"right":       {`User "u" cannot get resource "secrets" in API group ""`, `User "u" cannot get resource "secrets" in API group ""`},
		"webhook": {
			`failed calling webhook "w.example.com": Post "https://127.0.0.1:1/?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused`,
			`failed calling webhook "w.example.com": Post "https://127.0.0.1:1/?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, text.Scrub(tc.text)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// FuzzScrub checks that a password in a URL never gets through and that scrubbing twice changes nothing.
func FuzzScrub(f *testing.F) {
	f.Add("dial ", "user", "hunter2")
	f.Fuzz(func(t *testing.T, around, user, password string) {
		word := func(s string) string {
			return strings.Map(func(r rune) rune {
				if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
					return r
				}
				return -1
			}, s)
		}
		if password = word(password); len(password) < 6 || strings.Contains(around, password) {
			return
		}
		once := text.Scrub(around + " https://" + word(user) + ":" + password + "@db.example.com/x failed")
		if strings.Contains(once, password) {
			t.Errorf("the password is still in %q", once)
		}
		if twice := text.Scrub(once); twice != once {
			t.Errorf("scrubbed again: %q, first %q", twice, once)
		}
	})
}
