"""Which templates say the same while what they read is the same (C4, G1)."""

import pytest

from custom_components.proactive_agent.gate.steady import steady_basis

pytestmark = [pytest.mark.contract("C4"), pytest.mark.contract("G1")]


@pytest.mark.parametrize(
    ("template", "entity_ids", "domains", "has_all"),
    [
        ("plain text", (), (), False),
        ("{{ states('sensor.a') | float(0) > 5 }}", (), (), False),
        ("{{ states.sensor.a.state | int < 5 }}", ("sensor.a",), (), False),
        ("{{ states['sensor.a'].attributes.x }}", ("sensor.a",), (), False),
        ("{{ states.sensor['a'].attributes['x'] }}", ("sensor.a",), (), False),
        ("{{ states.light | list | count }}", (), ("light",), False),
        ("{% set lamps = states.light %}{{ lamps.a }}", (), ("light",), False),
        ("{{ states | map(attribute='state') | list }}", (), (), True),
        ("{{ 'a.b' | states | upper }}", (), (), False),
        ("{% for x in [1, 2] %}{{ loop.last and x[0:1] }}{% endfor %}", (), (), False),
        (
            (
                "{% set ns = namespace(n=0) %}{% for s in states.light %}"
                "{% set ns.n = ns.n + 1 %}{% endfor %}{{ ns.n }}"
            ),
            (),
            ("light",),
            False,
        ),
        ("{{ now() > states.sensor.a.last_changed }}", ("sensor.a",), (), False),
        ("{{ ['a.b'] | select('has_value') | list | join(', ') }}", (), (), False),
        ("{{ state.attributes.get('x', '').split(',') }}", (), (), False),
        ("{{ is_state('a.b', 'on') is true }}", (), (), False),
    ],
)
def test_what_it_names_counts(
    template: str, entity_ids: tuple[str, ...], domains: tuple[str, ...], has_all: bool
) -> None:
    basis = steady_basis(template)
    assert basis is not None
    assert basis.entity_ids == entity_ids
    assert basis.domains == domains
    assert basis.has_all is has_all


@pytest.mark.parametrize(
    "template",
    [
        "{% if %}",
        # registries, issues, chance and what is not known
        "{{ area_entities('kitchen') }}",
        "{{ 'kitchen' | area_entities }}",
        "{{ ['kitchen'] | map('area_entities') | list }}",
        "{{ ['a.b'] | select('is_hidden_entity') | list }}",
        "{{ [1] | selectattr('x', 'is_hidden_entity') | list }}",
        "{{ 'a.b' is is_hidden_entity }}",
        "{{ [1, 2] | random }}",
        "{{ issues() | count }}",
        "{{ 'x' | some_filter }}",
        "{{ nothing_here is defined }}",
        "{{ as_timestamp('2026-01-01') }}",
        "{% from 'tools.jinja' import x %}",
        "{% include 'tools.jinja' %}",
        # changes without a new state
        "{{ states.sensor.a.last_reported }}",
        "{{ states.sensor.a['last_reported'] }}",
        "{{ states.sensor.a['last\\x5freported'] }}",
        "{{ states.sensor | map(attribute='last_reported') | list }}",
        "{{ states.sensor.a.as_dict() }}",
        "{{ states.sensor.a | to_json }}",
        # how a state is shown, a registry says
        "{{ states('sensor.a', true) }}",
        "{{ states('sensor.a', rounded=true) }}",
        "{{ states(*['sensor.a', true]) }}",
        "{{ 'sensor.a' | states(true) }}",
        "{{ ['sensor.a'] | map('states', true) | list }}",
        "{{ ['sensor.a'] | map('states', rounded=true) | list }}",
        "{{ states.sensor.a.state_with_unit }}",
        # what is named only while it is rendered
        "{{ states['sensor.' ~ x] }}",
        "{{ states.sensor | map(attribute='last_' ~ 'reported') | list }}",
        "{{ states.sensor | groupby('last_' ~ 'reported') | list }}",
        "{{ [1] | map(*['states']) | list }}",
        "{% set f = states %}{{ f('sensor.a', true) }}",
        "{{ [states][0]('sensor.a', true) }}",
        "{{ 'sensor.a' | attr('x') }}",
    ],
)
def test_where_more_may_decide_nothing_is_taken_for_granted(template: str) -> None:
    assert steady_basis(template) is None
