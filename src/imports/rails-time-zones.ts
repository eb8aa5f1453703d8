/* Time zones by the names that Ruby on Rails gives them, which some products use. */

/** Cities by the area of IANA's zone with the same name. */
const CITIES = {
  America:
    "Tijuana, Chihuahua, Mazatlan, Mexico City, Monterrey, Bogota, Lima, Caracas, La Paz, Santiago, Asuncion, Montevideo, Puerto Rico",
  Europe:
    "Dublin, Lisbon, London, Belgrade, Bratislava, Budapest, Ljubljana, Prague, Sarajevo, Skopje, Warsaw, Zagreb, Brussels, Copenhagen, Madrid, Paris, Amsterdam, Berlin, Zurich, Rome, Stockholm, Vienna, Bucharest, Helsinki, Riga, Sofia, Tallinn, Vilnius, Athens, Istanbul, Minsk, Kaliningrad, Moscow, Volgograd, Samara",
  Africa: "Casablanca, Monrovia, Cairo, Harare, Nairobi",
  Asia: "Jerusalem, Kuwait, Riyadh, Baghdad, Tehran, Muscat, Baku, Tbilisi, Yerevan, Kabul, Karachi, Tashkent, Kolkata, Kathmandu, Dhaka, Almaty, Novosibirsk, Rangoon, Bangkok, Jakarta, Krasnoyarsk, Chongqing, Hong Kong, Urumqi, Kuala Lumpur, Singapore, Taipei, Irkutsk, Ulaanbaatar, Seoul, Tokyo, Yakutsk, Vladivostok, Magadan, Srednekolymsk, Kamchatka",
  Australia: "Perth, Darwin, Adelaide, Canberra, Melbourne, Sydney, Brisbane, Hobart",
  Pacific: "Guam, Port Moresby, Fiji, Auckland",
} as const;

/** Names that Rails gives to other zones of IANA. */
const OTHER_ZONES = {
  "International Date Line West": "Etc/GMT+12",
  "Midway Island": "Pacific/Midway",
  "American Samoa": "Pacific/Pago_Pago",
  Hawaii: "Pacific/Honolulu",
  Alaska: "America/Juneau",
  "Pacific Time (US & Canada)": "America/Los_Angeles",
  "Mountain Time (US & Canada)": "America/Denver",
  Arizona: "America/Phoenix",
  "Central Time (US & Canada)": "America/Chicago",
  Saskatchewan: "America/Regina",
  Guadalajara: "America/Mexico_City",
  "Central America": "America/Guatemala",
  "Eastern Time (US & Canada)": "America/New_York",
  "Indiana (East)": "America/Indiana/Indianapolis",
  Quito: "America/Lima",
  "Atlantic Time (Canada)": "America/Halifax",
  Newfoundland: "America/St_Johns",
  Brasilia: "America/Sao_Paulo",
  Georgetown: "America/Guyana",
  Greenland: "America/Nuuk",
  "Mid-Atlantic": "Atlantic/South_Georgia",
  "Cape Verde Is.": "Atlantic/Cape_Verde",
  Edinburgh: "Europe/London",
  Bern: "Europe/Zurich",
  "West Central Africa": "Africa/Algiers",
  Kyiv: "Europe/Kiev",
  Kyev: "Europe/Kiev",
  Pretoria: "Africa/Johannesburg",
  "St. Petersburg": "Europe/Moscow",
  "Abu Dhabi": "Asia/Muscat",
  Ekaterinburg: "Asia/Yekaterinburg",
  Islamabad: "Asia/Karachi",
  Chennai: "Asia/Kolkata",
  Mumbai: "Asia/Kolkata",
  "New Delhi": "Asia/Kolkata",
  Astana: "Asia/Dhaka",
  "Sri Jayawardenepura": "Asia/Colombo",
  Hanoi: "Asia/Bangkok",
  Beijing: "Asia/Shanghai",
  Osaka: "Asia/Tokyo",
  Sapporo: "Asia/Tokyo",
  "Solomon Is.": "Pacific/Guadalcanal",
  "New Caledonia": "Pacific/Noumea",
  "Marshall Is.": "Pacific/Majuro",
  Wellington: "Pacific/Auckland",
  "Nuku'alofa": "Pacific/Tongatapu",
  "Tokelau Is.": "Pacific/Fakaofo",
  "Chatham Is.": "Pacific/Chatham",
  Samoa: "Pacific/Apia",
  "Buenos Aires": "America/Argentina/Buenos_Aires",
  Azores: "Atlantic/Azores",
};

/** Names that Rails gives to IANA's zones. */
export const RAILS_TIME_ZONES: Readonly<Record<string, string>> = {
  ...OTHER_ZONES,
  ...Object.fromEntries(
    Object.entries(CITIES).flatMap(([area, cities]) =>
      cities.split(", ").map((city) => [city, `${area}/${city.replaceAll(" ", "_")}`]),
    ),
  ),
};

/** Returns the IANA name of a zone as Rails names it; other names as they are. */
export function railsTimeZone(name: string): string {
  return (Object.hasOwn(RAILS_TIME_ZONES, name) && RAILS_TIME_ZONES[name]) || name;
}
