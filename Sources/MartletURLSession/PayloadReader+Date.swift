public import Foundation
public import MartletClient

extension PayloadReader {
    /// `readAt` as a date.
    public var readDate: Date? {
        readAt.map { Date(timeIntervalSince1970: $0 / .seconds(1)) }
    }
}
