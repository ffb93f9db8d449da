package environment

// ParseAuditEvent turns a line of an audit log into an entry.
func ParseAuditEvent(line []byte) (AuditEntry, error) {
	event, err := parseAuditEvent(line)
	if err != nil {
		return AuditEntry{}, err
	}
	return event.entry(), nil
}
