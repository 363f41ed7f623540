import Testing

@testable import MartletPostgres

struct MovedTagNumberTests {
    private func number(
        _ name: String, _ known: Int64, _ numbers: inout MovedTagNumbers, hub: Int64 = 1
    ) -> Int64? {
        numbers.numbers(of: Array(name.utf8), [known], in: hub, scope: 4).first.map { $0 & 0xFFFF_FFFF }
    }

    @Test func numbersOfTheSourceStayUntilItsFirstCopyIsMade() {
        var numbers = MovedTagNumbers(last: [1: 10])
        #expect(number("News", 7, &numbers) == 7)
        #expect(number("Former", 0, &numbers) == 11)
        #expect(number("former", 0, &numbers) == 11)
        #expect(numbers.last == [1: 11] && numbers.added.count == 1)
    }

    @Test func laterNumbersOfTheSourceMakeRoomForThoseThatWereGiven() {
        var numbers = MovedTagNumbers(last: [1: 10])
        _ = number("former", 0, &numbers)
        numbers.stored()
        numbers.advance(to: [1: 12, 2: 12])
        #expect(number("news", 7, &numbers) == 7)
        #expect(number("new", 11, &numbers) == 12)
        #expect(number("newer", 12, &numbers) == 13)
        #expect(number("gone", 0, &numbers) == 14)
        #expect(number("former", 0, &numbers) == 11, "It is stored.")
        #expect(number("new", 11, &numbers, hub: 2) == 11, "A hub that is new has given none.")
        #expect(numbers.last == [1: 14, 2: 12])
        #expect(numbers.added.keys.map(\.name) == ["gone"])
    }

    @Test func aTagThatIsStoredKeepsItsNumber() {
        var numbers = MovedTagNumbers(last: [1: 10])
        _ = number("former", 0, &numbers)
        numbers.stored()
        numbers.advance(to: [1: 12])
        // The source has removed `news` (7) and made it again (12), and lists `former` again (11).
        numbers.replace(numbers.shifted(12, in: 1), by: 7, in: 1)
        numbers.replace(numbers.shifted(11, in: 1), by: 11, in: 1)
        #expect(number("news", 12, &numbers) == 7)
        #expect(number("former", 11, &numbers) == 11)
        numbers.keep(MovedTagNumbers.Tag(hub: 1, scope: 4, name: "unlisted"), 3)
        #expect(number("Unlisted", 0, &numbers) == 3)
        #expect(numbers.added.isEmpty)
    }
}
