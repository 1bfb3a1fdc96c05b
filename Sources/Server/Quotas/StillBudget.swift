import GRPCCore
import GRPCProtobuf
import SidelightTransport

/// Bounds the bytes of still images that wait or are filtered. Calls wait for their turn with their whole
/// image in memory, and a caller may begin any number of them.
struct StillBudget: Sendable {
  private let budget: AddressBudget
  private let description: String

  /// - Parameters:
  ///   - limit: The bytes of all callers together.
  ///   - limitPerCaller: The bytes of one caller.
  init(limit: Int, limitPerCaller: Int) {
    self.budget = AddressBudget(limit: limit, limitPerAddress: limitPerCaller)
    self.description =
      "still images under way have \(limitPerCaller) bytes of one caller at most, and \(limit) of all"
  }

  /// Takes the bytes of an image, which must be given back.
  ///
  /// - Throws: RESOURCE_EXHAUSTED with `QuotaFailure` and `RetryInfo` if there is no room for them.
  func take(_ byteCount: Int, for caller: String) throws(GoogleRPCStatus) {
    guard !self.budget.take(byteCount, for: caller) else { return }
    throw GoogleRPCStatus(
      code: .resourceExhausted,
      message: "There is no room for another image: \(self.description).",
      details: .quotaFailure(violations: [.init(subject: caller, description: self.description)]),
      .retryInfo(delay: .seconds(1)))
  }

  /// Gives the bytes of an image back.
  func giveBack(_ byteCount: Int, for caller: String) {
    self.budget.giveBack(byteCount, for: caller)
  }
}
