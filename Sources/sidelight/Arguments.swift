public import ArgumentParser
import Foundation
import SidelightClient
public import SidelightKernels
import SidelightWire

extension Address {
  /// Parses an address from the command line.
  ///
  /// - Throws: `ValidationError` that states the expected form.
  init(argument: String) throws {
    do throws(AddressError) {
      self = try Address(argument)
    } catch {
      throw ValidationError(error.reason)
    }
  }
}

extension FrameSize: ExpressibleByArgument {
  /// Parses a size such as `1920x1080`.
  public init?(argument: String) {
    let sides = argument.lowercased().split(separator: "x").map { Int($0) }
    guard sides.count == 2, let width = sides[0], let height = sides[1],
      (1 ... FrameLayout.maxDimension).contains(width),
      (1 ... FrameLayout.maxDimension).contains(height)
    else { return nil }
    self.init(width: width, height: height)
  }
}

extension PixelFormat: ExpressibleByArgument {}

/// The `--pipeline` option of all subcommands.
struct PipelineOption: ParsableArguments {
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Filters, for example 'sepiaTone(intensity: 0.8), vignette(intensity: 1)'.",
      valueName: "text"))
  var pipeline = ""

  /// Parses the text. Its filters are looked up where they run.
  ///
  /// - Throws: `ValidationError` with the position of the error.
  func parsed() throws -> PipelineText { try PipelineText(argument: self.pipeline) }
}

/// The `--participant` option of the subcommands that call a server.
struct ParticipantOption: ParsableArguments {
  @Option(
    name: .customLong("participant"),
    help: ArgumentHelp(
      "Participant for whom the server is called: its assets, permissions and limits apply.",
      valueName: "name"))
  var name = ""
}

extension PipelineText {
  /// Parses a pipeline from the command line.
  ///
  /// - Throws: `ValidationError` with the position of the error.
  init(argument: String) throws {
    do throws(PipelineTextError) {
      try self.init(argument)
    } catch {
      throw ValidationError("\(error)")
    }
  }

  /// Looks up the pipeline's filters.
  ///
  /// - Throws: `ValidationError` with the position of the error.
  func resolved(in catalogue: FilterCatalogue) throws -> ResolvedPipeline {
    do throws(PipelineTextError) {
      return try self.resolve { pipeline throws(PipelineError) in try catalogue.resolve(pipeline) }
    } catch {
      throw ValidationError("\(error)")
    }
  }
}

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
    let needsTLS = [self.authorities, self.certificate, self.key, self.serverName]
      .contains { $0 != nil }
    if self.tls || needsTLS {
      var tls = ClientTLS()
      tls.authorities = self.authorities
      tls.certificateChain = self.certificate
      tls.privateKey = self.key
      tls.serverName = self.serverName
      security.tls = tls
    }
    if let path = self.tokenFile {
      security.token = {
        String(decoding: try FileContents.read(path), as: UTF8.self)
          .trimmingCharacters(in: .whitespacesAndNewlines)
      }
    }
    return security
  }
}
