package props

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFlag_RefusesSecrets(t *testing.T) {
	var f Flag
	require.NoError(t, f.Set("s3.region=eu-west-1"))
	require.NoError(t, f.Set("s3.endpoint=http://localhost:7070?a=b"))
	for _, bad := range []string{"token=x", "s3.secret-access-key=x", "adls.sas-token=x", "oauth2.CREDENTIAL=x", "novalue", "=x"} {
		require.Error(t, f.Set(bad), bad)
	}
	require.Equal(t, Flag{"s3.region": "eu-west-1", "s3.endpoint": "http://localhost:7070?a=b"}, f)
}
