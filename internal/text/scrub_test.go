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
		"only a user in a URL":              {"ssh://git@example.com/repo", "ssh://git@example.com/repo"},
		"data source name":                  {"open root:hunter2@tcp(db:3306)/x: refused", "open ***@tcp(db:3306)/x: refused"},
		"connection string":                 {"host=db user=app password=hunter2 dbname=x", "host=db user=app password=*** dbname=x"},
		"quoted value":                      {`password='correct horse' host=db`, "password=*** host=db"},
		"query":                             {"Get https://x/y?access_token=abc&page=2: EOF", "Get https://x/y?access_token=***&page=2: EOF"},
		"header":                            {"Authorization: Bearer abc.def.ghi rejected", "Authorization: Bearer *** rejected"},
		"basic header":                      {`"Authorization":"Basic dXNlcjpwYXNz"`, `"Authorization":"Basic ***"`},
		"bearer":                            {"invalid bearer s3cr3t", "invalid bearer ***"},
		"bearer in text":                    {"bearer token is missing", "bearer token is missing"},
		"web token":                         {"token eyJhbGciOi.eyJzdWIiOi.c2ln is expired", "token *** is expired"},
		"JSON":                              {`{"db_password": "hun\"ter2", "size": 3}`, `{"db_password": ***, "size": 3}`},
		"value rejected by validation": {
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

// TestScrubForms checks that every form of a credential is removed. Each text contains the credential hunter2 or the
// given one.
func TestScrubForms(t *testing.T) {
	t.Parallel()
	const long = "Zk3vQ9xT1mW8pR4sY7uB2nC6dF5gH0jL"
	forms := map[string]string{}
	for _, form := range []string{
		"DB_PASS=hunter2", "dbPass=hunter2", "PASS=hunter2", "PGPASSWORD=hunter2", "pwd=hunter2;", "AccountKey=hunter2==;Endpoint=x", "session=hunter2",
		"sid=hunter2", "session_id=hunter2", "SharedAccessKey=hunter2", "client_secret=hunter2&a=b", "?sig=hunter2", "X-Amz-Signature=hunter2", "REDIS_AUTH=hunter2",
		"jwt=hunter2", "MASTER_KEY=hunter2", "signing-key = 'hunter2'",
		"password: hunter2", "db-password: hunter2, retry", "passphrase: hunter2", "api_key: hunter2", "apiKey: hunter2;", "auth_token: hunter2",
		`apiKey "hunter2"`, `password "hunter2" rejected`, `passwd 'hunter2'`, `access key: x, secret-key "hunter2"`,
		"--password hunter2", "--password=hunter2", "--db-pass hunter2", `"--token", "hunter2"`, "-password hunter2", "--api-key hunter2 --x y", "exec [psql --password hunter2]",
		"user:hunter2@host", "dial user:hunter2@db.example.com:5432: refused", "https://u:hunter2@h/x", "amqp://u:hunter2@h", "//u:hunter2@h/x", "u:hunter2@tcp(db:1)/x",
		"redis://:hunter2@h",
		"Cookie: a=b; id=hunter2", "Set-Cookie: id=hunter2; Path=/", `"Cookie":"id=hunter2"`, "Authorization: Basic hunter2", "authorization: hunter2 x", "Authorization: Token hunter2",
		"Proxy-Authorization: Negotiate hunter2", "X-Api-Key: hunter2", "X-Auth-Token: hunter2", "X-Vault-Token: hunter2", `{"X-Registry-Auth": "hunter2"}`, "bearer hunter2",
		`{"password":"hunter2"}`, `{"token": "hunter2"}`, `{'secret': 'hunter2'}`, `{"pass":"hunter2"}`, `{"session":"hunter2"}`,
		`body: "{\"password\":\"hunter2\",\"a\":1}"`, `{\"apiKey\": \"hunter2\"}`, `{\\"token\\":\\"hunter2\\"}`,
		`spec.apiKey: Invalid value: "hunter2": too short`, "-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----",
		"-----BEGIN OPENSSH PRIVATE KEY-----\nhunter2",
	} {
		forms[form] = "hunter2"
	}
	for _, token := range []string{
		"hf_abcdefghijklmnop", "sk-abcdefghij", "sk-ant-api03-abcdefghijklmnop", "sk_live_abcdefghijklmnop", "ghp_abcdefghijklmnopqrst", "github_pat_abcdefghijklmnop_a",
		"glpat-abcdefghijklmnopqrst", "xoxb-123456789012-abc", "AKIAIOSFODNN7EXAMPLE", "ASIAIOSFODNN7EXAMPLE", "nvapi-abcdefghijklmnop", "gsk_abcdefghijklmnop",
		"npm_abcdefghijklmnopqrst", "hvs.abcdefghijklmnop", "sha256~abcdefghijklmnopqrstuvwxyz", "AIzaabcdefghijklmnopqrstuvwxyzabcdefghi", "ya29.abcdefghijklmnop",
		"dckr_pat_abcdefghijklmnop", "eyJhbGciOi.eyJzdWIiOi.c2ln", long,
	} {
		forms["the model "+token+" was refused"] = token
		forms["https://example.com/x/"+token+"/y"] = token
	}
	for form, credential := range forms {
		got := text.Scrub(form)
		if strings.Contains(got, credential) {
			t.Errorf("%q gives %q, which contains the credential", form, got)
		}
		if again := text.Scrub(got); again != got {
			t.Errorf("%q gives %q, and scrubbed again %q", form, got, again)
		}
	}
}

// TestScrubKeeps checks that texts without a credential are unchanged.
func TestScrubKeeps(t *testing.T) {
	t.Parallel()
	for _, benign := range []string{
		"image ghcr.io/a/b:v1@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef not found",
		"pull ghcr.io/a/b@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		"uid mismatch: the provided UID 0b5a2d3c-6a0e-4a51-8a3b-0f6f7e2f9d11 does not match 9f1c6a5e-0000-4a51-8a3b-0f6f7e2f9d11",
		`resourceVersion: 123456789, the object has been modified`, "open /var/run/secrets/kubernetes.io/serviceaccount/token: no such file or directory",
		"spec.template.spec.containers[0].image: Required value", "password: Required value", "password: missing", "token: not found", "flag --token is required",
		"--password must be set", "the API key is missing", "label key=app is invalid", `secret "db-credentials" not found`, "bypass=true",
		`Deployment.apps "web-6f7c9d8b5f" is invalid`, "x509: certificate has expired or is not yet valid: the current time is after 2024-01-01T00:00:00Z",
		"the server could not find the requested resource (post horizontalpodautoscalers.autoscaling)", "mail admin@example.com for access",
		"spec.secretKeyRef: Required value", "HorizontalPodAutoscalerConditionScalingLimitedByMaximum2", "dial tcp [::1]:443: connect: connection refused",
		`configmaps "a" is forbidden: User "system:serviceaccount:ns:sa" cannot get resource "configmaps"`, "author=jane", "pods \"a-0\" not found",
	} {
		if diff := cmp.Diff(benign, text.Scrub(benign)); diff != "" {
			t.Errorf("a text without a credential changes (-want +got)\n%s", diff)
		}
	}
}

// FuzzScrub checks that a password in a URL is always removed, and that scrubbing is idempotent.
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
			t.Errorf("%q contains the password", once)
		}
		if twice := text.Scrub(once); twice != once {
			t.Errorf("scrubbed twice: %q, once: %q", twice, once)
		}
	})
}
