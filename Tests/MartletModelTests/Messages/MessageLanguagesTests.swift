import Testing

@testable import MartletModel

struct MessageLanguagesTests {
    private let message = ComposedMessage(
        title: ["en": "Hello", "de": "Hallo", "de-AT": "Servus", "zh-Hant": "哈囉"],
        text: ["en": "Good day", "de": "Guten Tag"], language: "en")

    private func language(_ tags: String...) throws -> String {
        let index = message.languages.index(forDeviceWith: try tags.map { try Tag($0) })
        return message.languages.tags[index].spelling
    }

    @Test func aDeviceGetsItsLanguageOrAMoreGeneralOneOrTheMessagesOwn() throws {
        #expect(try language("lang:de") == "de")
        #expect(try language("news", "lang:DE-at") == "de-AT")
        #expect(try language("lang:de-CH") == "de")
        #expect(try language("lang:zh-Hant-TW") == "zh-Hant")
        #expect(try language("lang:zh") == "en")
        #expect(try language("lang:ko") == "en")
        #expect(try language() == "en")
        #expect(try language("lang:") == "en")
    }

    @Test func theFirstSupportedLanguageTagByNameCounts() throws {
        #expect(try language("lang:zh-Hant", "lang:de") == "de")
        #expect(try language("lang:ko", "lang:aa", "lang:zh-hant") == "zh-Hant")
        #expect(try language("lang:en", "lang:de") == "de")
    }

    @Test func eachTextFallsBackByItself() throws {
        let austrian = message.localized(in: LanguageTag("de-AT"))
        #expect(austrian.title == "Servus")
        #expect(austrian.text == "Guten Tag")
        let taiwanese = message.localized(in: LanguageTag("zh-Hant"))
        #expect(taiwanese.title == "哈囉")
        #expect(taiwanese.text == "Good day")
    }

    @Test func aSingleLetterEndsNoTag() {
        #expect(LanguageTag("de-x-bairisch")?.lookups == ["de-x-bairisch", "de"])
        #expect(
            LanguageTag("zh-Hant-CN-x-private1")?.lookups == ["zh-hant-cn-x-private1", "zh-hant-cn", "zh-hant", "zh"])
    }

    @Test(arguments: ["", "-de", "de-", "1", "de_AT", "abcdefghi", "ä", String(repeating: "a-", count: 20)])
    func isNoTag(text: String) {
        #expect(LanguageTag(text) == nil)
    }
}
