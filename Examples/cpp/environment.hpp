// Copyright the Sidelight authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sidelight/client.hpp>
#include <stdexcept>
#include <string>

/// Returns the content of the file that an environment variable names, or an empty text if it is not
/// set.
inline std::string content_of(const char* variable) {
  const char* path = std::getenv(variable);
  if (path == nullptr) return "";
  std::ifstream file(path, std::ios::binary);
  std::string content(std::istreambuf_iterator<char>(file), {});
  if (content.empty()) {
    throw std::invalid_argument(std::string(variable) + " is " + path +
                                "; it must be a PEM file that can be read");
  }
  return content;
}

/// Returns the token in SIDELIGHT_TOKEN, and the credentials for TLS if TLS_ROOT_CERTIFICATES
/// is set. Servers that require a certificate of their clients also need TLS_CERTIFICATE and
/// TLS_PRIVATE_KEY.
inline sidelight::ClientOptions options_of_environment() {
  sidelight::ClientOptions options;
  if (const char* token = std::getenv("SIDELIGHT_TOKEN")) options.bearer_token = token;
  if (const auto roots = content_of("TLS_ROOT_CERTIFICATES"); !roots.empty()) {
    grpc::SslCredentialsOptions tls;
    tls.pem_root_certs = roots;
    tls.pem_cert_chain = content_of("TLS_CERTIFICATE");
    tls.pem_private_key = content_of("TLS_PRIVATE_KEY");
    options.credentials = grpc::SslCredentials(tls);
  }
  return options;
}
