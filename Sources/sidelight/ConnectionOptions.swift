import ArgumentParser
import Foundation
import SidelightClient

/// Options that say how a client and its server know each other.
struct ConnectionOptions: ParsableArguments {
  @Flag(help: "Speak TLS to servers at TCP addresses.")
  var tls = false

  @Option(
    name: .customLong("tls-ca"),
    help: ArgumentHelp(
      "The authorities that vouch for servers, PEM. (default: the system's)", valueName: "file"))
  var authorities: String?

  @Option(
    name: .customLong("tls-certificate"),
    help: ArgumentHelp("This client's certificate and its chain, PEM.", valueName: "file"))
  var certificate: String?

  @Option(
    name: .customLong("tls-key"),
    help: ArgumentHelp("The certificate's key, PEM, not encrypted.", valueName: "file"))
  var key: String?

  @Option(
    name: .customLong("tls-server-name"),
    help: ArgumentHelp(
      "The name that the server's certificate must have. (default: the address's host)",
      valueName: "name"))
  var serverName: String?

  @Option(
    help: ArgumentHelp(
      "A file with a bearer token, read anew for each connection.", valueName: "file"))
  var tokenFile: String?

  /// What the options come to. Whoever says something of TLS wants it.
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
