package store

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// metadataTimeout bounds a request for credentials to the machine or cluster.
const metadataTimeout = 10 * time.Second

// credentialsOf finds credentials where the tools of AWS look for them: the environment,
// the files of the profile (keys, SSO, credential_process), then the machine or cluster.
func credentialsOf(ctx context.Context, q url.Values) (*credentials.Credentials, error) {
	if q.Get("anonymous") == "true" {
		return credentials.NewStatic("", "", "", credentials.SignatureAnonymous), nil
	}
	var chain []credentials.Provider
	if q.Get("profile") == "" {
		chain = append(chain, &credentials.EnvAWS{})
	}
	chain = append(chain, &credentials.FileAWSCredentials{Profile: q.Get("profile")})
	if os.Getenv("AWS_EC2_METADATA_DISABLED") != "true" {
		chain = append(chain, &credentials.IAM{Client: &http.Client{Timeout: metadataTimeout}})
	}
	found := credentials.NewChainCredentials(chain)
	if role := q.Get("role"); role != "" {
		found = credentials.New(&roleProvider{base: found, role: role, region: regionOf(q)})
	}
	v, err := found.GetWithContext(&credentials.CredContext{Client: http.DefaultClient, Context: ctx})
	if err == nil && v.SignerType == credentials.SignatureAnonymous {
		err = errors.New("no AWS credentials found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, name a profile, or add anonymous=true for a public bucket")
	}
	return found, err
}

// A roleProvider exchanges other credentials for those of a role, each time they expire.
type roleProvider struct {
	credentials.Expiry
	base         *credentials.Credentials
	role, region string
}

// Retrieve implements credentials.Provider.
func (p *roleProvider) Retrieve() (credentials.Value, error) { return p.RetrieveWithCredContext(nil) }

// RetrieveWithCredContext implements credentials.Provider.
func (p *roleProvider) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	v, err := p.base.GetWithContext(cc)
	if err != nil {
		return v, err
	}
	host := "sts.amazonaws.com"
	if p.region != "" {
		host = "sts." + p.region + ".amazonaws.com"
	}
	sts := credentials.STSAssumeRole{Client: &http.Client{Timeout: metadataTimeout}, STSEndpoint: "https://" + host, Options: credentials.STSAssumeRoleOptions{
		AccessKey: v.AccessKeyID, SecretKey: v.SecretAccessKey, SessionToken: v.SessionToken,
		Location: p.region, RoleARN: p.role, RoleSessionName: "reelsplice",
	}}
	if v, err = sts.RetrieveWithCredContext(cc); err == nil {
		p.SetExpiration(v.Expiration, credentials.DefaultExpiryWindow)
	}
	return v, err
}
