import Testing

@testable import MartletNetwork

struct HTTPDateTests {
    @Test func datesHaveTheFormOfTheRFC() {
        #expect(HTTPDate.format(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.format(0) == "Thu, 01 Jan 1970 00:00:00 GMT")
    }
}
