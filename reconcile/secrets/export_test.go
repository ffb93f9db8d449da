package secrets

// Fill lets the tests choose the source of random bytes.
var Fill = fill
