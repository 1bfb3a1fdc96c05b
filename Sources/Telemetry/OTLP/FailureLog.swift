import Logging

/// Logs when sending of spans begins to fail, and when it works again, rather than each batch.
struct FailureLog {
  private let logger: Logger
  private let endpoint: OTLPEndpoint
  private var isFailing = false

  init(logger: Logger, endpoint: OTLPEndpoint) {
    self.logger = logger
    self.endpoint = endpoint
  }

  mutating func note(_ error: any Error) {
    defer { self.isFailing = true }
    self.logger.log(
      level: self.isFailing ? .debug : .warning, "spans cannot be sent and are dropped",
      metadata: ["endpoint": "\(self.endpoint)", "error": "\(error)"])
  }

  mutating func recover() {
    guard self.isFailing else { return }
    self.isFailing = false
    self.logger.notice("spans are sent again", metadata: ["endpoint": "\(self.endpoint)"])
  }
}
