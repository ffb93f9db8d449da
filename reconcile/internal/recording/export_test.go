package recording

// What the tests look at besides the exported names.
type (
	Content             = jsonValue
	UnrecordedReadError = unrecordedReadError
)
