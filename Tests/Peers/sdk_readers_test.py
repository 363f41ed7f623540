"""The models of the SDKs' readers themselves: each takes the documented answer, and none a changed one."""

import unittest

from sdk import documents, dotnet_reader, java_reader, javascript_reader, phone_readers
from sdk.documents import ATOM, INSTANCE, SERVICE, Unreadable

DESCRIPTION = (
    f'<AppleTemplateRegistrationDescription xmlns="{SERVICE}" xmlns:i="{INSTANCE}"><ETag>1</ETag>'
    "<ExpirationTime>9999-12-31T23:59:59.999Z</ExpirationTime><RegistrationId>1-2-3</RegistrationId><Tags>a,b</Tags>"
    '<DeviceToken>AABB</DeviceToken><BodyTemplate><![CDATA[{"a":"$(b)"}]]></BodyTemplate><Expiry i:nil="true"/>'
    "<TemplateName>n</TemplateName><ApnsHeaders/></AppleTemplateRegistrationDescription>"
)
ENTRY = (
    f'<entry xmlns="{ATOM}"><title type="text">1-2-3</title><content type="application/xml">{DESCRIPTION}</content>'
    "</entry>"
)
FEED = f'<feed xmlns="{ATOM}"><title type="text">Registrations</title>{ENTRY}</feed>'
DETAILS = (
    f'<NotificationDetails xmlns="{SERVICE}" xmlns:i="{INSTANCE}"><NotificationId>1</NotificationId>'
    "<Location>https://hub.example/demo/messages/1</Location><State>Completed</State>"
    "<EnqueueTime>2026-01-01T00:00:00.0000000Z</EnqueueTime><ApnsOutcomeCounts><Outcome><Name>Success</Name>"
    "<Count>3</Count></Outcome></ApnsOutcomeCounts></NotificationDetails>"
)
JOB = (
    f'<entry xmlns="{ATOM}"><content type="application/xml"><NotificationHubJob xmlns="{SERVICE}"><JobId>1</JobId>'
    "<Progress>100.00</Progress><Type>ExportRegistrations</Type><Status>Completed</Status>"
    "<OutputContainerUri>https://hub.example/c?sig=x</OutputContainerUri>"
    f'<OutputProperties xmlns:d3p1="{documents.ARRAYS}"><d3p1:KeyValueOfstringstring><d3p1:Key>k</d3p1:Key>'
    "<d3p1:Value>v</d3p1:Value></d3p1:KeyValueOfstringstring></OutputProperties>"
    "<CreatedAt>2026-01-01T00:00:00Z</CreatedAt></NotificationHubJob></content></entry>"
)
ERROR = (
    "<Error><Code>404</Code><Detail>Installation not found.TrackingId:7f3c1c1e-1111-2222-3333-444455556666_G1,"
    "TimeStamp:11/7/2018 12:18:37 AM</Detail></Error>"
)


class ReadersTest(unittest.TestCase):
    def refuses(self, reader, document, old, new, *arguments):
        """The document is read as it is, and not with one thing changed."""
        reader(document.encode(), *arguments)
        self.assertIn(old, document)
        with self.assertRaises((Unreadable, KeyError, TypeError, ValueError), msg=f"{old} -> {new}"):
            reader(document.replace(old, new).encode(), *arguments)

    def test_java_takes_literal_names_and_exact_words(self):
        read = java_reader.registration(ENTRY.encode())
        self.assertEqual((read.kind, read["RegistrationId"], read["Expiry"]), ("AppleTemplate", "1-2-3", ""))
        self.refuses(java_reader.registration, ENTRY, "AppleTemplateR", "PigeonR")
        self.refuses(java_reader.registration, ENTRY, "9999-12-31T23:59:59.999Z", "")
        self.refuses(java_reader.registration, ENTRY, "</content>", "")
        self.refuses(java_reader.telemetry, DETAILS, "Completed", "Cancelled")
        self.refuses(java_reader.telemetry, DETAILS, "2026-01-01T00:00:00.0000000Z", "1/1/2026")
        self.refuses(java_reader.job, JOB, "<Status>Completed", "<Status>Done")
        self.assertEqual(java_reader.job(JOB.encode())["OutputProperties"], {"k": "v"})

    def test_dotnet_loses_what_is_out_of_order_or_behind_white_space(self):
        self.assertEqual(dotnet_reader.registration(ENTRY.encode())["Tags"], {"a", "b"})
        tags, token = "<Tags>a,b</Tags>", "<DeviceToken>AABB</DeviceToken>"
        self.refuses(dotnet_reader.registration, ENTRY, tags + token, token + tags)
        self.refuses(dotnet_reader.registration, ENTRY, token, "")
        self.refuses(dotnet_reader.registration, ENTRY, 'xml"><Apple', 'xml">\n<Apple')
        self.refuses(dotnet_reader.registration, ENTRY, SERVICE, "https" + SERVICE[4:])
        self.refuses(dotnet_reader.registrations, FEED, "<feed", "<entry")
        self.refuses(dotnet_reader.job, JOB, "<Progress>100.00</Progress>", "<Progress>all</Progress>")
        self.refuses(dotnet_reader.telemetry, DETAILS, "https://hub.example/demo", "/demo")

    def test_javascript_wants_texts_and_knows_five_entities(self):
        self.assertEqual(len(javascript_reader.registrations(FEED.encode())), 1)
        self.assertEqual(javascript_reader.registrations(FEED.replace(ENTRY, "").encode()), [])
        self.refuses(javascript_reader.registration, ENTRY, "<RegistrationId>1-2-3</RegistrationId>", "")
        self.refuses(javascript_reader.registration, ENTRY, "<TemplateName>n", "<TemplateName>&#110;")
        self.refuses(javascript_reader.registration, ENTRY, 'application/xml">', 'application/xml">text')
        self.refuses(javascript_reader.job, JOB, "d3p1:", "a:")
        outcome = "<Outcome><Name>Success</Name><Count>3</Count></Outcome>"
        self.refuses(javascript_reader.telemetry, DETAILS, outcome, "")

    def test_the_phones_take_one_pattern_of_time_and_their_own_platform(self):
        self.assertEqual(phone_readers.ios_registrations(FEED.encode())[0]["DeviceToken"], "AABB")
        self.refuses(phone_readers.ios_registrations, ENTRY, "59.999Z", "59Z")
        self.assertEqual(phone_readers.android_registrations(FEED.encode(), "FcmV1"), [])

    def test_errors_have_one_shape(self):
        self.assertEqual(documents.error_detail(ERROR.encode(), 404), "Installation not found")
        for old, new in (("<Error>", f'<Error xmlns="{SERVICE}">'), ("404", "400"), ("AM", ""), ("Code>", "Status>")):
            self.refuses(documents.error_detail, ERROR, old, new, 404)


if __name__ == "__main__":
    unittest.main()
