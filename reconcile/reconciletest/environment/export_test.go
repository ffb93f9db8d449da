package environment

// ParseAuditEvent parses a line of an audit log.
func ParseAuditEvent(line []byte) (AuditEntry, error) {
	event, err := parseAuditEvent(line)
	if err != nil {
		return AuditEntry{}, err
	}
	return event.entry(), nil
}

// NewAuditLog reads an audit log from a file.
func NewAuditLog(path string) *AuditLog { return &AuditLog{path: path} }

// NamespacePrefix returns the prefix of the namespace of a test.
func NamespacePrefix(test string) string { return namespacePrefix(test) }
