import ArgumentParser
import Foundation
import SidelightClient

/// Options for TLS and authentication of a client.
struct ConnectionOptions: ParsableArguments {
  @Flag(help: "Use TLS for TCP addresses.")
  var tls = false

  @Option(
    name: .customLong("tls-ca"),
    help: ArgumentHelp(
      "File with the CA certificates that sign servers, PEM. (default: the system's)",
      valueName: "file"))
  var authorities: String?

  @Option(
    name: .customLong("tls-certificate"),
    help: ArgumentHelp("File with this client's certificate chain, PEM.", valueName: "file"))
  var certificate: String?

  @Option(
    name: .customLong("tls-key"),
    help: ArgumentHelp(
      "File with the certificate's private key, PEM, unencrypted.", valueName: "file"))
  var key: String?

  @Option(
    name: .customLong("tls-server-name"),
    help: ArgumentHelp(
      "Expected name in the server's certificate. (default: the address's host)",
      valueName: "name"))
  var serverName: String?

  @Option(
    help: ArgumentHelp(
      "File with a bearer token, read again for each connection.", valueName: "file"))
  var tokenFile: String?

  /// The resulting configuration. Any TLS option enables TLS.
  var security: ClientSecurity {
    var security = ClientSecurity()
    let isAsked = [self.authorities, self.certificate, self.key, self.serverName]
      .contains { $0 != nil }
    if self.tls || isAsked {
      var tls = ClientTLS()
      tls.authorities = self.authorities
      tls.certificateChain = self.certificate
      tls.privateKey = self.key
      tls.serverName = self.serverName
      security.tls = tls
    }
    if let path = self.tokenFile {
      security.token = {
        try String(contentsOfFile: path, encoding: .utf8)
          .trimmingCharacters(in: .whitespacesAndNewlines)
      }
    }
    return security
  }
}
