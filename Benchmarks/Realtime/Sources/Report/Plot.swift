/// Line plots beside each other.
struct Plot: Sendable {
  struct Axis: Sendable {
    var label: String
    var range: ClosedRange<Double>
    var ticks: [Double]
    var isLog = false
  }

  struct Series: Sendable {
    /// As the legend says it; `nil`: not in the legend.
    var name: String?
    var isDashed = false
    var points: [(Double, Double)]
  }

  /// A line across the plot.
  struct Reference: Sendable {
    var name: String
    var value: Double
  }

  struct Panel: Sendable {
    var title: String
    var x: Axis
    var y: Axis
    var series: [Series]
    var references: [Reference]
  }

  var title: String
  var subtitle: String
  var panels: [Panel]
  /// How many series in a row share a colour.
  var seriesPerColor = 1
}
