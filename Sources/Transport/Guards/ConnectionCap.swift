import NIOCore

/// Closes a connection at once if too many stand (``Guard/connectionCap``).
///
/// It closes when the channel becomes active, not before: until then nobody but the listener knows it.
final class ConnectionCap: ChannelInboundHandler {
  typealias InboundIn = Any

  private let budget: AddressBudget
  /// Whose connection is counted; `nil` when none is.
  private var counted: String?

  /// - Parameter budget: How many there may be.
  init(budget: AddressBudget) {
    self.budget = budget
  }

  func channelActive(context: ChannelHandlerContext) {
    let address = context.channel.peerAddress
    if self.budget.take(1, for: address) {
      self.counted = address
      context.fireChannelActive()
    } else {
      context.fireChannelActive()
      context.cutOff(by: .connectionCap)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    if let counted = self.counted.take() { self.budget.giveBack(1, for: counted) }
    context.fireChannelInactive()
  }
}
