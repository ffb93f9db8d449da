package secrets

// Fill generates values from the given source of random bytes.
var Fill = fill
