// Package enum has the values of the enumerations of package apply that only the
// SDK itself compares: programs see them as text, or say them with an option.
// They are constants without a type, so that apply can use them, too.
package enum
