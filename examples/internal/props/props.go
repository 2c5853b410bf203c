// Package props is the flag -prop key=value of the example programs.
package props

import (
	"errors"
	"fmt"
	"strings"
)

// Flag collects the properties of a catalog, one a flag. It implements
// flag.Value; the zero Flag is empty.
type Flag map[string]string

// String implements flag.Value. Values are not shown.
func (f *Flag) String() string { return "" }

// Set adds one key=value. A secret is refused, because others can see the flags
// of a process.
func (f *Flag) Set(text string) error {
	key, value, ok := strings.Cut(text, "=")
	if !ok || key == "" {
		return errors.New("write it as key=value")
	}
	if isSecret(key) {
		return fmt.Errorf("%s is a secret, which others can see in a flag; set it in the environment (FRAZIL_CATALOG_TOKEN, FRAZIL_CATALOG_CREDENTIAL, or the variables of the cloud)", key)
	}
	if *f == nil {
		*f = Flag{}
	}
	(*f)[key] = value
	return nil
}

// isSecret tells the properties that hold secrets by their names.
func isSecret(key string) bool {
	key = strings.ToLower(key)
	for _, word := range []string{"token", "credential", "secret", "password", "access-key", "account-key", "sas"} {
		if strings.HasSuffix(key, word) {
			return true
		}
	}
	return false
}
