public import Foundation
public import MartletClient

extension PayloadReader {
    /// The time `readAt` as a date.
    public var readDate: Date? {
        readAt.map { Date(timeIntervalSince1970: $0 / .seconds(1)) }
    }
}
