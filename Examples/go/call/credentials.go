package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// dialOptions returns the credentials for TLS if TLS_ROOT_CERTIFICATES names a PEM file with
// the authorities that the server's certificate may be from. Servers that require a certificate of
// their clients also need TLS_CERTIFICATE and TLS_PRIVATE_KEY.
func dialOptions() ([]grpc.DialOption, error) {
	path := os.Getenv("TLS_ROOT_CERTIFICATES")
	if path == "" {
		return nil, nil
	}
	roots, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	if !config.RootCAs.AppendCertsFromPEM(roots) {
		return nil, fmt.Errorf("%s has no certificate; it must be a PEM file", path)
	}
	if certificate := os.Getenv("TLS_CERTIFICATE"); certificate != "" {
		pair, err := tls.LoadX509KeyPair(certificate, os.Getenv("TLS_PRIVATE_KEY"))
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return []grpc.DialOption{grpc.WithTransportCredentials(credentials.NewTLS(config))}, nil
}
