"""Starts the sandbox once, and gives each test a customer of its own."""

import json
import subprocess

import pytest
import requests


@pytest.fixture(scope="session")
def sandbox():
    words = ["npx", "bursar", "--port", "0", "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        yield json.loads(process.stdout.readline())["url"]
        process.terminate()


@pytest.fixture
def customer(sandbox):
    made = requests.post(f"{sandbox}/sandbox/customers", json={"records": "sample"}, timeout=10)
    yield made.json()
    requests.delete(f"{sandbox}/sandbox/customers/{made.json()['customer_id']}", timeout=10)


@pytest.fixture
def api(sandbox, customer):
    answer = requests.post(
        f"{sandbox}/oauth2/token",
        auth=(customer["client_id"], customer["client_secret"]),
        data={"grant_type": "client_credentials"},
        timeout=10,
    )
    session = requests.Session()
    session.headers["Authorization"] = f"Bearer {answer.json()['access_token']}"
    return session


def test_reads_a_page(sandbox, api):
    page = api.get(f"{sandbox}/v2/transfer/fiat-accounts", params={"limit": 2}, timeout=10)
    assert [page.status_code, len(page.json()["items"])] == [200, 2]


def test_sees_an_outage(sandbox, customer, api):
    fault = {"customer_id": customer["customer_id"], "kind": "status", "status": 503}
    requests.post(f"{sandbox}/sandbox/faults", json=fault, timeout=10)
    page = api.get(f"{sandbox}/v2/transfer/fiat-accounts", timeout=10)
    assert page.status_code == 503
