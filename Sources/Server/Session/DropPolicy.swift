/// Which frames go when they come faster than they can be filtered.
package enum DropPolicy: Sendable, Hashable {
  /// A newer frame displaces the one that waits.
  case newestWins
  /// A frame that finds no room goes.
  case keepOldest
  /// None; the sender is held back.
  case neverDrop
}
