//! `customer show`: every stored field, at every width.

use snapbox::str;

use crate::support::storefront::Home;
use crate::support::terminal::Terminal;

#[test]
fn every_stored_field_with_a_value_is_shown_at_every_width() {
    let home = Home::new();
    let show = ["--sandbox", "customer", "show"];
    for columns in [40, 80, 100, 200] {
        let (code, screen) = Terminal::run(&home, columns, &show, &[("NO_COLOR", "1")]).ends_raw();
        assert_eq!(code, 0);
        for shown in [
            "Haddad Imports",
            "FR40303265045",
            "B4711",
            "loyalty_points",
            "billing",
            "shipping",
            "1984-07-19",
        ] {
            assert!(screen.contains(shown), "{columns}: {shown}\n{screen}");
        }
        assert!(!screen.contains("null"), "{screen}");
    }
    home.run("--sandbox customer show").assert_success(str![[r#"
Amina Haddad <amina.haddad@example.com> (customer 1)
  group_id                   1
  created_at                 [TIME]
  updated_at                 [TIME]
  created_in                 Default Store View
  dob                        1984-07-19
  prefix                     Dr.
  gender                     2
  taxvat                     FR40303265045
  store_id                   1
  website_id                 1
  disable_auto_group_change  0
  is_subscribed              true
  loyalty_points             12345678901234567890
  preferred_language         fr

address 1, default billing
  name       Amina Haddad
  company    Haddad & Filles
  street     18 rue de la Paix / Bâtiment C
  city       75002 Paris
  country    FR
  telephone  +33 1 42 68 53 00
  fax        +33 1 42 68 53 01
  prefix     Dr.
  vat_id     FR40303265045
  door_code  B4711

address 2, default shipping
  name                  Amina Haddad
  company               Haddad Imports
  street                350 Fifth Avenue
  city                  10118 New York
  region                New York, NY, id 43
  country               US
  telephone             +1 212 736 3100
  delivery_window.from  09:00
  delivery_window.to    12:30
  latitude              40.748400
  longitude             -73.985700

address 3
  name       أمينة حداد
  street     شارع الحمرا ١٢ / الطابق الثالث
  city       بيروت
  region     محافظة بيروت
  country    LB
  telephone  +961 1 345 678

address 4
  name            Lina Haddad-Groß
  street          Invalidenstraße 117
  city            02138 Berlin
  region          Berlin, BER, id 82
  country         DE
  telephone       +49 30 2345678
  is_residential  true
"#]]);
}
